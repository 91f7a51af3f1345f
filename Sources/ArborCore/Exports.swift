// The store without what needs all of Foundation, which ArborData adds: ArborLocale, model files of
// Xcode and DataManager.
@_exported public import ArborErrors
@_exported public import ArborExchange
@_exported public import ArborJSON
@_exported public import ArborLog
@_exported public import ArborModel
@_exported public import ArborObjects
