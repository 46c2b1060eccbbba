"""Ray's instance manager: instances and their life cycle, the loop that reconciles them, and who carries it out.

Start reading at ``reconciler.py`` (one loop), then ``life_cycle.py`` (what may follow what), ``sync.py`` (instances
follow what is observed), ``stuck.py``, ``scale.py`` and ``step.py`` (what is done next).
"""
