"""What is asked: samples of questions, and the orders in which options are shown."""
