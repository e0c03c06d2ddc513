"""A training clock that survives pauses: a step never counts for more than a few seconds."""
import time


class Clock:
    """Progress 0..1 over a budget of counted minutes, shortened when the wall-clock limit comes closer."""

    def __init__(self, minutes, wall_minutes, longest_step=5.0):
        self.budget, self.longest = minutes * 60, longest_step
        self.counted, self.last = 0.0, time.time()
        self.end = self.last + wall_minutes * 60

    def progress(self):
        """Count the time since the last call and return the fraction of the schedule that is done."""
        now = time.time()
        self.counted += min(now - self.last, self.longest)
        self.last = now
        left = min(self.budget - self.counted, self.end - now)
        return 1.0 if left <= 0 else self.counted / (self.counted + left)
