"""The record of our games. It is written before each action and judges neither moves nor replies."""
