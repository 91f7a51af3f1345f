internal import ArborJSON
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// The size of an index that doesn't exist yet, estimated from a sample of its objects.
struct IndexSize {
  private static let sampleSize = 1000
  /// The number of bytes of a key in addition to its columns: its first object and its position in
  /// the page.
  private static let perKey = 20.0
  /// The number of bytes of each further object with the same key.
  private static let perObject = 9.0

  let entries: Int
  let bytes: Int
  private let sample: Int

  /// Estimates an index of attributes and to-one relationships. Returns `nil` if the index has
  /// other columns or no objects.
  init?(_ advice: IndexAdvice, in context: ManagedObjectContext) throws(ArborError) {
    guard advice.index.elements.allSatisfy({ !$0.isExpression && $0.kind != .text }) else {
      return nil
    }
    var request = FetchRequest<ManagedObject>(entity: advice.entity)
    entries = try context.count(request)
    request.fetchLimit = Self.sampleSize
    let objects = try context.fetch(request)
    guard !objects.isEmpty else { return nil }
    var keys: Set<[PropertyValue]> = []
    for object in objects {
      var key: [PropertyValue] = []
      for element in advice.index.elements {
        key.append(try object.value(forKey: element.property))
      }
      keys.insert(key)
    }
    sample = objects.count
    let length = Double(keys.joined().reduce(0) { $0 + Self.bytes(of: $1) }) / Double(keys.count)
    // If most sampled keys differ, so do most others. Otherwise, the sample has nearly all keys.
    let isVaried = keys.count * 2 > sample
    let distinct =
      isVaried ? Double(entries) * Double(keys.count) / Double(sample) : Double(keys.count)
    bytes = Int(
      distinct * (length + Self.perKey) + max(0, Double(entries) - distinct) * Self.perObject)
  }

  /// Returns the approximate size of a value in a key.
  private static func bytes(of value: PropertyValue) -> Int {
    switch value {
    case .null: 1
    case .boolean: 2
    case .integer, .double, .date, .objectID: 9
    case .decimal: 12
    case .uuid: 17
    case .string(let text): text.utf8.count + 2
    case .uri(let url): url.absoluteString.utf8.count + 2
    case .binary(let data): data.count + 2
    case .list, .composite: 0
    }
  }

  var json: JSONValue {
    ["entries": JSONValue(entries), "bytes": JSONValue(bytes), "sample": JSONValue(sample)]
  }
}
