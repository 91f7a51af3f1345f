// ArborModel
