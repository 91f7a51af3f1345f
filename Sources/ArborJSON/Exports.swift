// What reading throws comes with it.
@_exported public import ArborErrors
