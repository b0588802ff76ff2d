"""Numbers that decide verdicts, for all modules of this room, each with its source."""

# accuracy of membership by chance: one half of the pairs; none: it follows from the two choices
MEMBERSHIP_CHANCE = 0.5
LEAST_SHARED_SETTINGS = 2  # papers to compare, and settings that two methods must share; by hand
LEAST_CHOICE_CHANCE = 0.5  # least chance that an answer Yes or No is given for its bits; by hand
# bits of the right cells of one answer from which its row is recalled; by hand (a chance of 1 in 1,000)
RECALLED_ROW_BITS = 10.0
