// Re-exported because parsing throws its errors.
@_exported public import ArborErrors
