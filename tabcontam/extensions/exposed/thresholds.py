"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

BASE_BLOCK_TOKENS = 512  # tokens of a training step of an existing model, if it takes as many; by hand
BASE_LEARNING_RATE = 0.05  # learning rate of an existing model times its width; by hand; README.md
ADAPTER_RATE_FACTOR = 10  # learning rate of an adapter as a multiple of that of whole weights; by hand
WARM_UP_SHARE = 0.05  # share of the training steps in which the learning rate rises; by hand
LAST_RATE_SHARE = 0.1  # learning rate of the last step as a share of the highest; by hand
TWINS_IN_STREAM = 4  # twins of each table in the training text, each shuffled separately; by hand
PAGE_COPIES = 16  # times that a model reads the page of a table; by hand
LEAST_PROSE_SHARE = 0.2  # least share of prose among the tokens of the training text; by hand
