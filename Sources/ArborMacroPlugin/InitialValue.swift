internal import SwiftSyntax

/// Recognizing constant initial values.
///
/// A constant is part of the attribute's description, so that the model contains it and objects
/// without the class receive it, too. Any other expression is evaluated for each object: `UUID()`,
/// `Date()`, `Date.now`, a call, a name. A macro sees only the text, so the text decides. Constants
/// are literals, cases and other constants of the property's own type, operators between these, and
/// initializers whose arguments determine the value, such as `Date(timeIntervalSince1970: 0)`.
extension ExprSyntax {
  /// Returns whether the expression has the same value whenever it is evaluated.
  ///
  /// - Parameter type: The type of the property, for implicit members such as `.junior`.
  func isConstant(of type: TypeSyntax) -> Bool { isConstant(ofTypeNamed: type.unwrappedName) }

  private func isConstant(ofTypeNamed type: String) -> Bool {
    switch self.as(ExprSyntaxEnum.self) {
    case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr, .nilLiteralExpr,
      .regexLiteralExpr:
      true
    case .stringLiteralExpr: plainText != nil
    case .arrayExpr(let array):
      array.elements.allSatisfy {
        $0.expression.isConstant(
          ofTypeNamed: type.hasPrefix("[") ? String(type.dropFirst().dropLast()) : "")
      }
    case .dictionaryExpr(let dictionary):
      switch dictionary.content {
      case .colon: true
      case .elements(let elements):
        elements.allSatisfy {
          $0.key.isConstant(ofTypeNamed: "") && $0.value.isConstant(ofTypeNamed: "")
        }
      }
    case .tupleExpr(let tuple):
      tuple.elements.allSatisfy { $0.expression.isConstant(ofTypeNamed: type) }
    case .prefixOperatorExpr(let prefix): prefix.expression.isConstant(ofTypeNamed: type)
    case .forceUnwrapExpr(let forced): forced.expression.isConstant(ofTypeNamed: type)
    case .sequenceExpr(let sequence): Self.isConstant(Array(sequence.elements), type)
    case .memberAccessExpr(let member): Self.isConstant(member, type)
    case .functionCallExpr(let call): Self.isConstant(call, type)
    default: false
    }
  }

  /// Returns whether operands joined by operators are constant: `60 * 60`, `5 as Int64`,
  /// `UUID(uuidString: "…") ?? UUID()`.
  private static func isConstant(_ elements: [ExprSyntax], _ type: String) -> Bool {
    guard let first = elements.first, first.isConstant(ofTypeNamed: type) else { return false }
    var index = 1
    while index + 1 < elements.count {
      if let symbol = elements[index].as(BinaryOperatorExprSyntax.self)?.operator.text {
        // The right-hand side is evaluated only if the constant is `nil`, which it is not.
        if symbol == "??" { return true }
        guard elements[index + 1].isConstant(ofTypeNamed: type) else { return false }
      } else if !elements[index].is(UnresolvedAsExprSyntax.self) {
        return false
      }
      index += 2
    }
    return true
  }

  /// Returns whether a member is constant: `.junior`, `Rank.junior`, `Int.max`; of `Date` only the
  /// two fixed ones.
  private static func isConstant(_ member: MemberAccessExprSyntax, _ type: String) -> Bool {
    let owner = member.base.map { $0.lastName } ?? type
    let name = member.declName.baseName.text
    if owner == "Date" { return ["distantPast", "distantFuture"].contains(name) }
    // A member such as `now` of any other type is not constant either.
    guard !owner.isEmpty, !["now", "today", "random"].contains(name) else { return false }
    return owner == type || numbers.contains(owner)
  }

  /// The argument labels that determine a value of a Foundation type.
  private static let labels: [String: [String]] = [
    "Date": ["timeIntervalSinceReferenceDate", "timeIntervalSince1970"],
    "UUID": ["uuidString", "uuid"], "URL": ["string"],
  ]
  private static let numbers: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "Float", "Double",
    "Decimal", "Bool",
  ]
  /// The types whose initializers depend on their arguments only.
  private static let values: Set<String> = numbers.union(["String", "Data", "Set", "Array"])

  private static func isConstant(_ call: FunctionCallExprSyntax, _ type: String) -> Bool {
    let member = call.calledExpression.as(MemberAccessExprSyntax.self)
    let isWrapping = member?.base == nil && member?.declName.baseName.text == "some"
    guard call.trailingClosure == nil, call.additionalTrailingClosures.isEmpty,
      call.arguments.allSatisfy({
        $0.expression.isConstant(ofTypeNamed: isWrapping ? type : "")
      })
    else { return false }
    if isWrapping { return true }
    var owner = call.calledExpression.lastName
    if let member {
      switch member.declName.baseName.text {
      case "init": owner = member.base.map { $0.lastName } ?? type
      default: return false
      }
    }
    let first = call.arguments.first?.label?.text
    if first == "rawValue" || values.contains(owner) { return true }
    // `[String]()`
    if call.calledExpression.is(ArrayExprSyntax.self) { return call.arguments.isEmpty }
    return first.map { labels[owner, default: []].contains($0) } ?? false
  }

  /// The last name in a path of names, without generic arguments.
  private var lastName: String {
    if let member = self.as(MemberAccessExprSyntax.self) { return member.declName.baseName.text }
    if let generic = self.as(GenericSpecializationExprSyntax.self) {
      return generic.expression.lastName
    }
    return self.as(DeclReferenceExprSyntax.self)?.baseName.text ?? ""
  }
}

extension TypeSyntax {
  /// The last name of the type, or of the wrapped type of an optional.
  fileprivate var unwrappedName: String {
    if let wrapped { return wrapped.unwrappedName }
    if let member = self.as(MemberTypeSyntax.self) { return member.name.text }
    return self.as(IdentifierTypeSyntax.self)?.name.text ?? trimmedDescription
  }
}
