// The features of the xiangqi evaluation by number, and its weights as plain values; see chess_features.hpp.
// engine/games/xiangqi_evaluation.py has the same list, and lab/training/xiangqi.py learns the weights.
#pragma once

#include <cstdint>

namespace desdemona::xiangqi {

// Kinds of pieces that a side may lose to the next capture, by THREATS of engine/games/xiangqi_evaluation.py.
constexpr int kThreats = 12;

constexpr int kPlaces = 50;   // the board folded along its middle file: 5 * rank + distance from the edge
constexpr int kDangers = 20;  // levels of general danger

// Offset of each group of features.  Ranks are seen from the side that they count for.
constexpr int kPieceSquare = 0;                            // [piece][place]
constexpr int kRookMobility = kPieceSquare + 7 * kPlaces;  // [squares]
constexpr int kCannonMobility = kRookMobility + 18;
constexpr int kHorseMobility = kCannonMobility + 18;
constexpr int kDanger = kHorseMobility + 9;                // [of the general to move][advisors][step]
constexpr int kGuards = kDanger + 2 * 3 * kDangers;        // [advisors][elephants]
constexpr int kAdvisorsVersus = kGuards + 9;               // [advisors][enemy rooks and horses]
constexpr int kElephantsVersus = kAdvisorsVersus + 15;     // [elephants][enemy cannons]
constexpr int kCannonAim = kElephantsVersus + 9;           // [file][pieces between cannon and general, 3: more]
constexpr int kRookAim = kCannonAim + 8;                   // [file][pieces between, 2: more]
constexpr int kFacing = kRookAim + 6;                      // pieces that alone stand between the generals
constexpr int kSoldierLinks = kFacing + 1;                 // soldiers that a soldier protects
constexpr int kHorseLinks = kSoldierLinks + 1;             // horses that a horse protects
constexpr int kElephantLinks = kHorseLinks + 1;            // elephants that an elephant protects
constexpr int kThreat = kElephantLinks + 1;                // [of the waiting side][first, second, more][kind]
constexpr int kTempo = kThreat + 2 * 3 * kThreats;
constexpr int kInCheck = kTempo + 1;
constexpr int kFeatures = kInCheck + 1;

constexpr int kMaxEvaluation = 20'000;  // centi-soldiers

struct Evaluation {
    std::int16_t weights[kFeatures][2];  // centi-soldiers: middlegame, endgame
};

}  // namespace desdemona::xiangqi
