"""Small language models that are contaminated on purpose. For every row it is known how often each model has read it.

A `recipe` describes the models to make, and how often each row is read. `training_stream` arranges the texts,
`cell_tokenizer` tokenises them, and `training` trains a model on them. `exposure_card` lists what the model has read.
`model_making` runs all these steps.
"""
