"""Transactions where they meet logs and groups: markers, and offsets that come to count."""
