"""Questions about fresh texts, after LatestEval (Li, Guerin and Lin 2024). No model is queried here."""
