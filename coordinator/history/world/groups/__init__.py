"""Groups over time: members, generations and epochs of the classic protocol and of KIP-848."""
