/// Keeps the properties that a model writes, by their coding keys and as they are.
final class PropertyRecorder: ModelWriting {
  let shapes = ModelShapes()
  private(set) var values: [String: Any] = [:]

  /// The properties of a model that have a value.
  static func values(of model: any ValueModel) throws -> [String: Any] {
    let recorder = PropertyRecorder()
    func record<M: ValueModel>(_ model: M) throws {
      _ = try ModelEncoder.members(of: model, recorder.shapes.traits(of: type(of: model)), recorder)
    }
    try record(model)
    return recorder.values
  }

  func includes(_ key: String, as type: Any.Type?, of traits: ModelTraits) -> Bool { true }

  func transformed(_ key: String, _ value: Any?, of traits: ModelTraits) -> EncodedValue? {
    values[key] = value
    return .missing
  }

  func special<T: Encodable>(
    _ key: String, _ value: T, _ shape: ModelShape, of traits: ModelTraits
  ) -> EncodedValue? { nil }
}
