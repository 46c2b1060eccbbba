"""What every fair run does: cycles of the state graph, those that fairness allows, the nearest as a lasso."""
