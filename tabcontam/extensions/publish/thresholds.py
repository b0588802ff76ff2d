"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

# accuracy of membership by chance: one half of the pairs; none: it follows from the two choices
MEMBERSHIP_CHANCE = 0.5
