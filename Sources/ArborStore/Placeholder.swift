// ArborStore
