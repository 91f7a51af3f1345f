import Testing

@testable import ArborModel

@Suite struct ValueConversionTests {
  static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .boolean, .float, .double, .decimal, .string, .date,
    .binary, .uuid, .uri, .transformable("T"), .composite("C"), .undefined,
  ]

  /// Checks the conversions between all types, one row per former type. Dots are identities.
  @Test("The conversion between each pair of types is known")
  func knowsEveryPair() {
    let letters: [ModelDifference.ValueConversion: String] = [
      .identity: ".", .widening: "w", .narrowing: "n", .booleanToInteger: "b", .uuidToString: "u",
      .uriToString: "r", .dateToDouble: "d", .custom: "-",
    ]
    let table = Self.types.map { old in
      Self.types.map { letters[ModelDifference.ValueConversion(from: old, to: $0)] ?? "?" }.joined()
    }
    #expect(
      table == [
        // i16 32 64 bool float double decimal string date binary uuid uri trans comp undef
        ".ww-www-------.", "n.w-nww-------.", "nn.-nnw-------.", "bbb.----------.",
        "nnn-.wn-------.", "nnn-n.n-------.", "nnn-nn.-------.", "-------.------.",
        "-----d--.-----.", "---------.----.", "-------u--.---.", "-------r---.--.",
        "---------.--.-.", "-------------..", "--------------.",
      ])
  }

  @Test("Only narrowing and custom conversions have to be checked")
  func onlyTheCertainNeedNoLook() {
    #expect(
      ModelDifference.ValueConversion.allCases.filter { !$0.isCertain } == [.narrowing, .custom])
  }

  @Test(
    "These type changes are lightweight",
    arguments: [
      (AttributeType.uuid, AttributeType.string, ModelDifference.ValueConversion.uuidToString),
      (.uri, .string, .uriToString), (.date, .double, .dateToDouble),
      (.boolean, .integer16, .booleanToInteger), (.integer16, .decimal, .widening),
    ])
  func isLightweight(
    old: AttributeType, new: AttributeType, conversion: ModelDifference.ValueConversion
  ) {
    let change = difference(old, new).changes[0]
    #expect(change.kind == .attribute(.typeChanged(from: old, to: new, conversion)))
    #expect(change.effort == .catalog && change.loss == nil && change.rule == nil)
  }

  @Test(
    "These type changes need code",
    arguments: [
      (AttributeType.double, AttributeType.date), (.string, .uuid), (.integer16, .boolean),
      (.string, .integer16), (.boolean, .double), (.binary, .transformable("T")),
    ])
  func needsCode(old: AttributeType, new: AttributeType) {
    let difference = difference(old, new)
    #expect(difference.changes.map(\.effort) == [.code])
    #expect(difference.classification == .custom && difference.losses.map(\.name) == ["A.x"])
  }

  @Test("Narrowing a number type requires a check of the values")
  func numbersThatMayNotFitAreLookedAt() {
    let difference = difference(.integer64, .integer16)
    #expect(
      difference.description
        == "A.x: the type changes from integer64 to integer16; existing values that do not fit "
        + "integer16 violate the rule (one pass over the objects)")
    #expect(difference.changes[0].rule == .valuesFit(.integer16))
    #expect(difference.classification == .lightweightUnlessRulesBreak && difference.losses.isEmpty)
  }

  @Test("A transient attribute needs no conversion")
  func whatIsNotStoredNeedsNoConversion() {
    let difference = difference(.string, .date) { $0.isTransient = true }
    #expect(difference.changes.map(\.effort) == [.catalog] && difference.losses.isEmpty)
  }

  private func difference(
    _ old: AttributeType, _ new: AttributeType,
    _ adjust: (inout AttributeDescription) -> Void = { _ in }
  ) -> ModelDifference {
    func model(_ type: AttributeType) -> ManagedObjectModel {
      var attribute = AttributeDescription(name: "x", type: type, isOptional: true)
      adjust(&attribute)
      return ManagedObjectModel(entities: [EntityDescription(name: "A", attributes: [attribute])])
    }
    return model(old).difference(to: model(new))
  }
}
