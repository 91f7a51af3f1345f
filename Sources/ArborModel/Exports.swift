// Re-exported because the public interface of the model throws and uses its types.
@_exported public import ArborErrors
