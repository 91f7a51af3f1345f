import Foundation

/// What the declared type of a model's property can hold, as far as the type alone tells. What a
/// property holds is checked where it is read or written; this is for one that is nil or empty.
indirect enum DeclaredType {
  /// A number, a text or another single value.
  case scalar
  case model(any ValueModel.Type)
  case list(DeclaredType)
  /// A type whose own coding decides.
  case other

  init(_ type: Any.Type) {
    func rawValue<T: RawRepresentable>(of type: T.Type) -> DeclaredType {
      DeclaredType(T.RawValue.self)
    }
    func element<T: Sequence>(of type: T.Type) -> DeclaredType { DeclaredType(T.Element.self) }
    self =
      switch type {
      case let optional as any OptionalModelValue.Type: DeclaredType(optional.wrappedType)
      case let model as any ValueModel.Type: .model(model)
      case is Bool.Type, is String.Type, is Date.Type, is Data.Type, is URL.Type, is UUID.Type,
        is Decimal.Type, is any BinaryInteger.Type, is any BinaryFloatingPoint.Type:
        .scalar
      case let raw as any RawRepresentable.Type: rawValue(of: raw)
      case let sequence as any Sequence.Type: .list(element(of: sequence))
      default: .other
      }
  }
}
