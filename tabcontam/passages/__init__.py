"""Questions on reading about fresh texts, after LatestEval (Li, Guerin and Lin 2024); no model is queried here."""
