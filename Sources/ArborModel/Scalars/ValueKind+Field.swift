extension ValueKind {
  package init(_ field: FieldKind) {
    self =
      switch field {
      case .boolean, .int16, .int32, .int64, .float, .double, .decimal: .number
      case .date: .date
      case .uuid: .uuid
      case .reference: .object
      case .string: .text
      case .binary: .binary
      case .uri: .uri
      case .tagged: .any
      }
  }
}
