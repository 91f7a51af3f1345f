// Users import a single module, which re-exports the others.
@_exported public import ArborErrors
@_exported public import ArborExchange
@_exported public import ArborJSON
@_exported public import ArborLocale
@_exported public import ArborLog
@_exported public import ArborModel
@_exported public import ArborModelFiles
@_exported public import ArborObjects
