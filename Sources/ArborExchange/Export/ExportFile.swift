package import ArborModel
package import Foundation

/// A file that an export is written into.
package struct ExportFile {
  private let handle: FileHandle

  package init(_ handle: FileHandle) { self.handle = handle }

  /// Writes at the end of what was written.
  package func write(_ data: Data) throws(ArborError) {
    do {
      try handle.write(contentsOf: data)
    } catch {
      throw Self.failure(error)
    }
  }

  /// Writes a file as a whole or not at all: under another name beside it, which then becomes its
  /// own.
  package static func replacing(
    _ url: URL, _ body: (ExportFile) throws(ArborError) -> Void
  ) throws(ArborError) {
    let draft = url.deletingLastPathComponent()
      .appending(path: ".\(url.lastPathComponent).\(UUID().uuidString)")
    guard FileManager.default.createFile(atPath: draft.path, contents: nil) else {
      throw ArborError(
        .inputOutput,
        "No file can be made in \(url.deletingLastPathComponent().path); make the folder, or allow "
          + "writing in it.")
    }
    do {
      let handle = try FileHandle(forWritingTo: draft)
      try body(ExportFile(handle))
      try handle.synchronize()
      try handle.close()
      // Both paths live for the length of the call.
      guard unsafe rename(draft.path, url.path) == 0 else {
        throw ArborError(
          .inputOutput,
          "\(url.path) cannot be replaced (error \(errno)); check its permissions, and that it is "
            + "no folder.")
      }
    } catch {
      try? FileManager.default.removeItem(at: draft)
      throw error as? ArborError ?? failure(error)
    }
  }

  private static func failure(_ error: any Error) -> ArborError {
    let cocoa = error as NSError
    let beneath = cocoa.userInfo[NSUnderlyingErrorKey] as? NSError ?? cocoa
    let isFull =
      cocoa.code == CocoaError.Code.fileWriteOutOfSpace.rawValue
      || (beneath.domain == NSPOSIXErrorDomain && [ENOSPC, EDQUOT].contains(Int32(beneath.code)))
    return ArborError(
      isFull ? .diskFull : .inputOutput,
      isFull
        ? "The disk is full; make room and export again."
        : "The export cannot be written; see the error beneath."
    ).with(underlying: error)
  }
}
