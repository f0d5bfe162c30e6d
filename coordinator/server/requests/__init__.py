"""Handling of a request around its handler: its values, slices of large ones, refusals, delayed answers."""
