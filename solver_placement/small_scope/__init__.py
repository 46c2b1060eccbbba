"""All small worlds, up to the names of nodes and pods: where does a policy miss a gang that could be placed?

Start reading at ``scopes.py``, what is enumerated; ``truth.py`` tries everything, ``play.py`` asks the policies,
``table.py`` counts. ``python -m solver_placement.small_scope`` writes ``results.json`` anew.
"""
