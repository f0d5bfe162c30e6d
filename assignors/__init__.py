"""Pure partition assignment, and the bytes that assignors put into a subscription as user data.

Plain values in and out, standard library only. Nothing here has heard of the wire, of groups or of the coordinator:
in the classic protocol the leader *member* assigns, and the coordinator carries opaque bytes.
"""
