"""Damaged files, full disks and signals: each case ends in a clear error, or right. See
SECURITY.md.
"""
