// What the model's interface throws and names comes with it.
@_exported public import ArborErrors
