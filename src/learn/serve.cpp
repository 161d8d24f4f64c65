#include "crew/crew.h"
#include "crew/programs.h"
#include "learn/rank_balance.h"
#include "learn/rank_gradient.h"
#include "motion/rank_recorder.h"

namespace springtime {

void serve(Ranks& ranks, const OpenMotion& open)
{
    serve(ranks,
          {{kRecordTask, make_record_task},
           {kGradientTask, make_gradient_task},
           {kBalanceTask, make_balance_task},
           {kProgramTask, make_program_task}},
          open);
}

}  // namespace springtime
