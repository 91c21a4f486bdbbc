"""Buttons, menus and modals: adapters that read a custom id, make one service call and send one reply."""
