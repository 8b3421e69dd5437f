"""The expression language of rules: its parser, its tree and its functions."""
