"""Questions on reading about fresh texts, after LatestEval (Li, Guerin and Lin 2024); nobody is asked here."""
