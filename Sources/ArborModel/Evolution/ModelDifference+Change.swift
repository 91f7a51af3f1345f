extension ModelDifference {
  /// One thing that differs: what it is, what it is called in both models, and what follows from it
  /// for a store.
  public struct Change: Sendable, Hashable {
    /// What changes.
    public let kind: Kind
    /// What it is called in the newer model; something that is removed, in the older one. nil for
    /// what concerns the whole model.
    public let subject: Subject?
    /// Where its objects or values are in the older model; nil for what is added.
    public let source: Subject?
    /// What a store needs for the change.
    public let effort: Effort
    /// What is dropped; nil where nothing is.
    ///
    /// A change that needs code drops it only where no code says what becomes of it.
    public let loss: Loss?
    /// The rule of the newer model that present objects may break; nil where they cannot.
    public let rule: Rule?

    /// The entity that changes, by its new name where it has one.
    public var entity: String? { subject?.entity }
    /// The property that changes, by its new name where it has one.
    public var property: String? { subject?.property }
    /// Whether a store needs no code to be brought along.
    public var isLightweight: Bool { effort != .code }
  }

  /// What changes, by what it changes in.
  public enum Kind: Sendable, Hashable {
    /// Something about an entity.
    case entity(EntityChange)
    /// Something about an attribute.
    case attribute(AttributeChange)
    /// Something about a relationship.
    case relationship(RelationshipChange)
    /// Something about an index or a uniqueness constraint.
    case index(IndexChange)
    /// Something about a composite type.
    case composite(CompositeChange)
    /// Something about the model as a whole.
    case model(ModelChange)
  }

  /// An entity, or a property of one.
  public struct Subject: Sendable, Hashable, CustomStringConvertible {
    /// The entity's name.
    public let entity: String
    /// The property's name; nil for the entity itself.
    public let property: String?

    /// Names an entity or a property.
    public init(_ entity: String, _ property: String? = nil) {
      self.entity = entity
      self.property = property
    }

    /// `Entity` or `Entity.property`.
    public var description: String { property.map { "\(entity).\($0)" } ?? entity }
  }

  /// What a store needs for a change, from the least to the most.
  public enum Effort: Sendable, Hashable, Comparable, CaseIterable {
    /// Nothing: nothing stored depends on it.
    case none
    /// A change of the catalogue, whatever the number of objects; records are converted when they
    /// are read.
    case catalogue
    /// A catalogue change, and an index that is filled from the objects.
    case indexBuild
    /// One pass over the objects.
    case pass
    /// Code that says what becomes of what is stored.
    case code
  }

  /// Something stored that the newer model has no room for.
  public struct Loss: Sendable, Hashable {
    /// What it is of the subject.
    public enum Kind: Sendable, Hashable, CaseIterable {
      /// The objects of an entity.
      case objects
      /// The values of an attribute.
      case values
      /// The links of a relationship.
      case links
      /// The order of a relationship's members.
      case order
    }

    /// What is lost.
    public let kind: Kind
    /// Whose, by its names in the older model.
    public let subject: Subject
    /// `Entity` or `Entity.property`, by their names in the older model.
    public var name: String { subject.description }
  }

  /// A rule of the newer model that the older one does not have, so that present objects may break
  /// it.
  public enum Rule: Sendable, Hashable {
    /// Every object has a value; no default gives it one.
    case mandatory
    /// No two objects have the same values of these properties.
    case unique([String])
    /// Every object has at least so many members.
    case minimumCount(Int)
    /// No object has more members.
    case maximumCount(Int)
    /// Every value lies within the bounds.
    case bounds(Bounds)
    /// Every value matches the regular expression.
    case pattern(String)
    /// Every value is a value of the type as well: converted there and back it is the same.
    case valuesFit(AttributeType)
    /// Every member is an object of the entity.
    case destination(String)
    /// Every link has its counterpart in the relationship back, of this name.
    case inverse(String)
    /// No relationship to one of these entities leads to objects of this one.
    case noLongerKind(of: [String])
  }

  /// The least and the greatest value of an attribute; for strings, the lengths in characters.
  public struct Bounds: Sendable, Hashable {
    /// The least value allowed; ``PropertyValue/null``: no bound.
    public let minimum: PropertyValue
    /// The greatest value allowed; ``PropertyValue/null``: no bound.
    public let maximum: PropertyValue

    init(_ attribute: AttributeDescription) {
      minimum = attribute.minimum
      maximum = attribute.maximum
    }

    /// Whether something that was within the other bounds may be outside of these.
    func isNarrower(than other: Bounds) -> Bool {
      let isHigher =
        !minimum.isNull
        && (other.minimum.isNull || PropertyValue.compare(minimum, other.minimum) == .greater)
      let isLower =
        !maximum.isNull
        && (other.maximum.isNull || PropertyValue.compare(maximum, other.maximum) == .less)
      return isHigher || isLower
    }
  }

  /// What objects that were there before have as the value of an attribute.
  public enum Filling: Sendable, Hashable {
    /// Nil.
    case null
    /// The default of the newer model.
    case value(PropertyValue)
    /// What the attribute's derivation computes.
    case computed
    /// Nothing, since the attribute lives in memory only.
    case notStored
    /// Nothing, although the attribute is mandatory.
    case missing

    init(_ attribute: AttributeDescription) {
      self =
        if attribute.isTransient {
          .notStored
        } else if attribute.derivation != nil {
          .computed
        } else if !attribute.defaultValue.isNull {
          .value(attribute.defaultValue)
        } else {
          attribute.isOptional ? .null : .missing
        }
    }
  }
}
