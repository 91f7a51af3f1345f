// ArborData
