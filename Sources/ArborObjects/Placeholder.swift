// ArborObjects
