"""Small language models that are contaminated on purpose, so that it is known what each has read of which table.

A `recipe` describes the models to make, `arms` which rows are read how often, `stream` the order in which texts are
read, `tokens` how a text is tokenised, `training` how a model learns from the stream, `card` what it has read; `make`
runs all of them.
"""
