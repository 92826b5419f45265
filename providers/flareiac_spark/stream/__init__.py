"""Streams: declared sources of unbounded data. Part of the jobs that read them; never planned alone, never
touched.
"""
