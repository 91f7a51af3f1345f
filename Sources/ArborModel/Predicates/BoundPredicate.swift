/// A predicate whose names have become properties of an entity.
///
/// It holds no arguments, so that one binding serves every use of a shape with an entity.
package final class BoundPredicate: ShapeBinding {
  package let entity: EntitySchema
  package let root: BoundNode
  /// What the predicate reads beside the record that it is evaluated for.
  package let dependencies: PredicateDependencies
  /// The root as a conjunction in normal form, prepared for planning.
  let shape: BoundConjunction
  /// What the predicate asks for where it names one unique value.
  package let uniqueEquality: UniqueEquality?

  package init(entity: EntitySchema, root: BoundNode) {
    self.entity = entity
    self.root = root
    dependencies = PredicateDependencies(of: root)
    shape = BoundConjunction(root)
    uniqueEquality = UniqueEquality(root, of: entity)
  }

  func isBound(to entity: AnyObject) -> Bool { self.entity === entity }
}
