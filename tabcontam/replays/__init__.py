"""Recorded answers under the calibrated rules: their nulls, what they weigh, and where both rule sets differ."""
