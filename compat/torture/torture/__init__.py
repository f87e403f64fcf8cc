"""Breaks a broker in every way that an ordinary Linux machine allows, and checks what its clients saw.

    runner -> broker, producers, consumers, faults -> history files -> checker -> violations

Clients are real ones (librdkafka). Each writes down what it did and what it was told, as JSON lines (history.py); the
checker (checker.py) reads nothing else, so that it can be tested with histories made by hand.
"""
