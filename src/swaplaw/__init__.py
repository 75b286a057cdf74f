"""swaplaw: will adding a model to yours by weighted voting help, at what weight, and how sure are we?"""
