"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

LEAST_SHARED_SETTINGS = 2  # least number of papers to compare, and of settings that two methods share; by hand
LEAST_CHOICE_CHANCE = 0.5  # a lower chance of an answer Yes or No counts as this chance in its bits; by hand
# an answer recalls its row if its right cells have so many bits; by hand (a chance of 1 in 1,000)
RECALLED_ROW_BITS = 10.0
