/// Creation of closures that test the bytes of one field.
///
/// The matchers of frequent comparisons are listed explicitly, so that the compiler specializes a
/// closure for each of them. All others are called through the existential.
enum ByteLeaf {
  /// Returns a test of a field of variable size.
  static func make(_ field: RecordField, _ matcher: any ByteMatcher) -> CompiledPredicate {
    switch matcher {
    case let matcher as EqualBytes: fused(field, matcher)
    case let matcher as BytePrefix: fused(field, matcher)
    case let matcher as ByteSuffix: fused(field, matcher)
    case let matcher as ByteInfix: fused(field, matcher)
    case let matcher as ByteRange: fused(field, matcher)
    case let matcher as FoldingMatcher<EqualBytes>: fused(field, matcher)
    case let matcher as FoldingMatcher<BytePrefix>: fused(field, matcher)
    case let matcher as FoldingMatcher<ByteSuffix>: fused(field, matcher)
    case let matcher as FoldingMatcher<ByteInfix>: fused(field, matcher)
    case let matcher as GlobPattern: fused(field, matcher)
    case let matcher as FoldingMatcher<GlobPattern>: fused(field, matcher)
    case let matcher as RegularExpressionMatcher:
      { record, _, resolver in
        !record.isNull(field) && matcher.matches(record.bytes(field), resolver)
      }
    default: fused(field, matcher)
    }
  }

  /// Returns a test of a UUID field. Its 16 bytes are stored in the slot itself.
  static func makeFixed(_ field: RecordField, _ matcher: any ByteMatcher) -> CompiledPredicate {
    let (offset, width) = (Int(field.offset), field.kind.width)
    return { record, _, _ in
      !record.isNull(field)
        && matcher.matches(UnsafeRawBufferPointer(start: record.base + offset, count: width))
    }
  }

  @inline(__always)
  private static func fused(
    _ field: RecordField, _ matcher: some ByteMatcher
  ) -> CompiledPredicate {
    { record, _, _ in !record.isNull(field) && matcher.matches(record.bytes(field)) }
  }
}
