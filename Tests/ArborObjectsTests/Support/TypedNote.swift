import ArborModel
import ArborObjects
import Foundation

/// A note with long texts and a binary value that is stored outside of its record.
final class TypedNote: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "TypedNote", className: "TypedNote",
    attributes: [
      .init(name: "title", type: .string, defaultValue: ""),
      .init(name: "body", type: .string, isOptional: true),
      .init(name: "photo", type: .binary, isOptional: true, allowsExternalStorage: true),
      .init(name: "length", type: .integer64, defaultValue: 0),
    ])

  var title: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var body: String? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var photo: Data? {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var length: Int {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }

  /// The values of a note.
  struct State: Equatable {
    var title = ""
    var body: String?
    var photo: Data?
    var length = 0

    /// The number of bytes that the values take.
    var size: Int { title.utf8.count + (body?.utf8.count ?? 0) + (photo?.count ?? 0) + 8 }
  }

  /// The values. Only those that differ are set.
  var contents: State {
    get { State(title: title, body: body, photo: photo, length: length) }
    set {
      if title != newValue.title { title = newValue.title }
      if body != newValue.body { body = newValue.body }
      if photo != newValue.photo { photo = newValue.photo }
      if length != newValue.length { length = newValue.length }
    }
  }
}
