"""Effects of transactions on logs and groups: markers, and the offsets that a commit makes visible.
The rules are in `core.transactions`. Begin with `outcomes.py`.
"""
