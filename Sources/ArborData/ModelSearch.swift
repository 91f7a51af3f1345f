import ArborModelFiles
import ArborModel
import Foundation

/// Finds the file of a model by its name.
enum ModelSearch {
  /// The forms of a model, in the order in which they are looked for.
  private static let forms = ["xcdatamodeld", "xcdatamodel", "model.json"]

  /// The file of the model of a name in a folder.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable` where none exists.
  static func file(named name: String, in folder: URL) throws(ArborError) -> URL {
    let candidates = forms.map { folder.appending(path: "\(name).\($0)") }
    guard let found = candidates.first(where: { FileManager.default.fileExists(atPath: $0.path) })
    else { throw missing(name, in: folder.path) }
    return found
  }

  /// The folder of a bundle's resources, in which the model of a name is looked for.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable` where none exists.
  static func folder(of bundle: Bundle, for name: String) throws(ArborError) -> URL {
    guard let folder = bundle.resourceURL else { throw missing(name, in: bundle.bundlePath) }
    return folder
  }

  /// The versions of a model's file that can be read, in the order of their names.
  static func versions(of file: URL) throws(ArborError) -> [ManagedObjectModel] {
    let document = try ModelDocument(contentsOf: file)
    return document.versions.compactMap { try? document.model(ofVersion: $0.name) }
  }

  private static func missing(_ name: String, in location: String) -> ArborError {
    ArborError(
      .fileUnreadable,
      "There is no model named \(name) in \(location). Add \(name).xcdatamodeld, "
        + "\(name).xcdatamodel or \(name).model.json.")
  }
}
