import ArborModelFiles
import ArborModel
import Foundation

/// Finds model files by name.
enum ModelSearch {
  /// The supported file extensions, in search order.
  private static let forms = ["xcdatamodeld", "xcdatamodel", "model.json"]

  /// Returns the model file with the given name in a folder.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable` if there isn't one.
  static func file(named name: String, in folder: URL) throws(ArborError) -> URL {
    let candidates = forms.map { folder.appending(path: "\(name).\($0)") }
    guard let found = candidates.first(where: { FileManager.default.fileExists(atPath: $0.path) })
    else { throw missing(name, in: folder.path) }
    return found
  }

  /// Returns the resource folder of a bundle, in which the model is looked up.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable` if the bundle has no resources.
  static func folder(of bundle: Bundle, for name: String) throws(ArborError) -> URL {
    guard let folder = bundle.resourceURL else { throw missing(name, in: bundle.bundlePath) }
    return folder
  }

  /// Returns the readable versions in a model file, sorted by name.
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
