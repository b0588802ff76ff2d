"""The kinds of tables of the skill benchmark: what follows in them, and what only who has seen a row can know."""
