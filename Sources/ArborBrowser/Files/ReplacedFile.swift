package import ArborModel

/// The error of a file that was removed or replaced while it is shown.
package enum ReplacedFile {
  package static func error(isStore: Bool) -> ArborError {
    ArborError(
      .fileReplaced,
      "The \(isStore ? "store's file" : "file") was removed or replaced. Start the browser again to "
        + "see the current file.")
  }
}
