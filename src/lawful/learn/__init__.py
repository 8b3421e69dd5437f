"""Rules from data: rules that true labels suggest, rules that they break, and weights."""
