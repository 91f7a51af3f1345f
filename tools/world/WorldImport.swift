import ArborData
import Foundation

/// Imports the unchanged documents of `iso-codes`. The model's `userInfo` maps their keys, and
/// specifies the identity, the parent and the country of a record.
struct WorldImport {
  let store: PersistentStore
  let report: Report

  /// Imports all documents of a folder, each as one commit.
  func run(_ folder: URL) async throws {
    for standard in ISOCodes.standards {
      try await report.step {
        var options = ImportOptions()
        // A document is an object with one key, the number of its standard, whose value is a list.
        options.layout = .member(standard.number)
        let file = folder.appending(path: "iso_\(standard.number).json")
        var done = ImportStep()
        let progress = store.importObjects(
          from: .file(file), as: standard.entity, options: options)
        for try await step in progress {
          report.progress(step.bytesRead, of: step.totalBytes ?? 0, "bytes")
          done = step
        }
        return "imported \(file.lastPathComponent): \(done.inserted) new, \(done.updated) changed, "
          + "\(done.unchanged) unchanged"
      }
    }
  }
}
