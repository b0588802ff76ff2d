"""Small language models that are contaminated on purpose: what each has read of which table is known.

A `recipe` says what is to be made, `arms` which rows are read how often, `stream` in which order the texts are read,
`tokens` how a text is cut, `training` how a model learns from the stream, `card` what it has read; `make` does it all.
"""
